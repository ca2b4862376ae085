"""The Azure endpoint as a web application: checks, dispatch and error shape."""

import asyncio
import json
import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.requests import Request as WebRequest
from starlette.responses import Response
from starlette.routing import Route as WebRoute

from twin.arm import api_versions, auth, chaos, groups
from twin.arm.azure import Azure
from twin.arm.backend import ClusterBackend
from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.operations import Operations
from twin.arm.routes import match
from twin.arm.service import Service
from twin.arm.store import Store
from twin.arm.work import work
from twin.errors import TwinError
from twin.paths import TwinFolder

log = logging.getLogger(__name__)

_LARGEST_BODY = 4 * 1024 * 1024
_METHODS = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"]


def create_app(folder: TwinFolder, backend: ClusterBackend) -> Starlette:
    """Return the Azure endpoint of a twin.

    Its state is in `folder.database`; `app.state.azure` is the simulated Azure behind it. When the application
    starts, unfinished operations go on; the backend brings back the control planes of finished ones itself.
    """
    service = Service(folder, Store(folder.database), backend)
    azure = Azure(service, Operations(service, work))
    token = folder.token.read_text().strip()

    async def endpoint(request: WebRequest) -> Response:
        return await _answer(azure, token, request)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        await run_in_threadpool(azure.operations.resume)
        yield
        await run_in_threadpool(azure.operations.stop)
        service.store.close()

    app = Starlette(routes=[WebRoute("/{path:path}", endpoint, methods=_METHODS)], lifespan=lifespan)
    app.state.azure = azure
    return app


async def _answer(azure: Azure, token: str, web: WebRequest) -> Response:
    id_ = str(uuid.uuid4())
    try:
        auth.check(web.headers, token)
        await _be_slow(azure)
        request_body = await _body(web)
        reply = await run_in_threadpool(_dispatch, azure, web, request_body)
    except ArmError as error:
        return _response(_error_reply(error), id_)
    except TwinError as error:
        return _response(_error_reply(ArmError(500, "InternalServerError", str(error))), id_)
    except ClientDisconnect:
        return _response(Reply(status=499), id_)
    except Exception:
        log.exception("%s %s failed (request %s)", web.method, web.url.path, id_)
        text = f"Encountered an internal server error. The request id is {id_}, see the twin's log."
        return _response(_error_reply(ArmError(500, "InternalServerError", text)), id_)
    return _response(reply, id_)


async def _be_slow(azure: Azure) -> None:
    seconds = azure.service.faults().get("arm-slow")
    if seconds:
        await asyncio.sleep(float(seconds))


async def _body(web: WebRequest) -> Any:  # noqa: ANN401 - JSON
    if int(web.headers.get("content-length") or 0) > _LARGEST_BODY:
        raise ArmError(413, "RequestContentTooLarge", "The request content is larger than 4 MiB.")
    content = await web.body()
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError as error:
        raise ArmError(
            400, "InvalidRequestContent", f"The request content was invalid and could not be deserialized: '{error}'."
        ) from error


def _dispatch(azure: Azure, web: WebRequest, body: Any) -> Reply:  # noqa: ANN401
    path = web.url.path.rstrip("/") or "/"
    chaos.check(azure.service, web.method, path)
    route, args = match(web.method, path)
    if "subscription" in args:
        groups.check_subscription(azure, args["subscription"])
    version = api_versions.check(
        route.namespace, route.kind, args.get("location", ""), web.query_params.get("api-version")
    )
    return route.handler(
        azure,
        Request(
            method=web.method,
            path=path,
            base=f"{web.url.scheme}://{web.url.netloc}",
            args=args,
            query=dict(web.query_params),
            api_version=version,
            body=body,
            headers=dict(web.headers),
        ),
    )


def _error_reply(error: ArmError) -> Reply:
    headers = {"x-ms-error-code": error.code}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer authorization_uri="https://login.microsoftonline.com"'
    return Reply({"error": error.content()}, error.status, headers)


def _response(reply: Reply, request_id: str) -> Response:
    headers = {
        "x-ms-request-id": request_id,
        "x-ms-correlation-request-id": request_id,
        "Cache-Control": "no-cache",
        **reply.headers,
    }
    if reply.body is None:
        return Response(status_code=reply.status, headers=headers)
    return Response(json.dumps(reply.body), reply.status, headers, media_type="application/json")
