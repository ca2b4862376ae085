"""Preview features and resource providers: asked for, Registering for a while, Registered."""

import time
from typing import Any

from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.service import Service
from twin.arm.settings import LOCATIONS

FEATURES, PROVIDERS = "features", "providers"
_CONTAINER_SERVICE = "Microsoft.ContainerService"
_KNOWN_FEATURES = (
    (_CONTAINER_SERVICE, "ManagedGPUExperiencePreview"),
    (_CONTAINER_SERVICE, "NodeAutoProvisioningPreview"),
    (_CONTAINER_SERVICE, "AKS-PrometheusAddonPreview"),
)
_PROVIDERS: dict[str, tuple[str, ...]] = {
    _CONTAINER_SERVICE: ("managedClusters", "managedClusters/agentPools", "locations/operations"),
    "Microsoft.Compute": ("skus", "locations/usages"),
    "Microsoft.Features": ("features", "featureProviders"),
    "Microsoft.Resources": ("resourceGroups", "subscriptions"),
}
_NEXT = {"Registering": "Registered", "Unregistering": "Unregistered"}


def state(service: Service, subscription: str, namespace: str, name: str) -> str:
    """Return the state of a feature now."""
    stored = service.store.get(_feature_id(subscription, namespace, name))
    return _settled(service, stored, held=service.fault("feature-pending")) if stored else "NotRegistered"


def set_state(service: Service, subscription: str, namespace: str, name: str, wanted: str) -> None:
    """Store the state of a feature, from now on."""
    id_ = _feature_id(subscription, namespace, name)
    service.store.put(FEATURES, {"id": id_, "state": wanted, "since": time.time()}, f"/subscriptions/{subscription}")


def _settled(service: Service, stored: dict[str, Any], *, held: bool) -> str:
    """Return where a stored state has got to: what is Registering is Registered after some seconds."""
    late = time.time() - stored["since"] >= service.settings.registration_seconds
    if stored["state"] in _NEXT and late and not (held and stored["state"] == "Registering"):
        return _NEXT[stored["state"]]
    return stored["state"]


def _feature_id(subscription: str, namespace: str, name: str) -> str:
    return f"/subscriptions/{subscription}/providers/Microsoft.Features/providers/{namespace}/features/{name}"


def _known(request: Request) -> tuple[str, str]:
    """Return namespace and name of the feature asked for, in Azure's spelling."""
    wanted = (request.args["namespace"].lower(), request.args["feature"].lower())
    for namespace, name in _KNOWN_FEATURES:
        if (namespace.lower(), name.lower()) == wanted:
            return namespace, name
    raise ArmError(404, "FeatureNotFound", f"The feature '{request.args['feature']}' could not be found.")


def _feature(service: Service, request: Request, namespace: str, name: str) -> dict[str, Any]:
    return {
        "id": _feature_id(request.subscription, namespace, name),
        "name": f"{namespace}/{name}",
        "type": "Microsoft.Features/providers/features",
        "properties": {"state": state(service, request.subscription, namespace, name)},
    }


def get_feature(service: Service, request: Request) -> Reply:
    """GET …/Microsoft.Features/providers/{namespace}/features/{feature}: 200 even when NotRegistered."""
    return Reply(_feature(service, request, *_known(request)))


def list_features(service: Service, request: Request) -> Reply:
    """GET …/Microsoft.Features[/providers/{namespace}]/features."""
    wanted = request.args.get("namespace", "").lower()
    return Reply(
        {
            "value": [
                _feature(service, request, namespace, name)
                for namespace, name in _KNOWN_FEATURES
                if wanted in ("", namespace.lower())
            ]
        }
    )


def register_feature(service: Service, request: Request) -> Reply:
    """POST …/register."""
    namespace, name = _known(request)
    with service.store.transaction():
        if state(service, request.subscription, namespace, name) != "Registered":
            set_state(service, request.subscription, namespace, name, "Registering")
    return Reply(_feature(service, request, namespace, name))


def unregister_feature(service: Service, request: Request) -> Reply:
    """POST …/unregister."""
    namespace, name = _known(request)
    with service.store.transaction():
        if state(service, request.subscription, namespace, name) in ("Registered", "Registering"):
            set_state(service, request.subscription, namespace, name, "Unregistering")
    return Reply(_feature(service, request, namespace, name))


# The newer interface to the same thing, which azure-native's SubscriptionFeatureRegistration uses.


def _registration(service: Service, request: Request, namespace: str, name: str) -> dict[str, Any]:
    subscription = request.subscription
    return {
        "id": f"/subscriptions/{subscription}/providers/Microsoft.Features/featureProviders/{namespace}/"
        f"subscriptionFeatureRegistrations/{name}",
        "name": name,
        "type": "Microsoft.Features/featureProviders/subscriptionFeatureRegistrations",
        "properties": {
            "subscriptionId": subscription,
            "providerNamespace": namespace,
            "featureName": name,
            "approvalType": "AutoApproval",
            "state": state(service, subscription, namespace, name),
        },
    }


def get_registration(service: Service, request: Request) -> Reply:
    """GET …/subscriptionFeatureRegistrations/{feature}: 200 even when NotRegistered."""
    return Reply(_registration(service, request, *_known(request)))


def list_registrations(service: Service, request: Request) -> Reply:
    """GET …/subscriptionFeatureRegistrations."""
    wanted = request.args.get("namespace", "").lower()
    rows = [
        _registration(service, request, namespace, name)
        for namespace, name in _KNOWN_FEATURES
        if wanted in ("", namespace.lower())
    ]
    return Reply({"value": rows})


def put_registration(service: Service, request: Request) -> Reply:
    """PUT …/subscriptionFeatureRegistrations/{feature}."""
    register_feature(service, request)
    return get_registration(service, request)


def delete_registration(service: Service, request: Request) -> Reply:
    """DELETE …/subscriptionFeatureRegistrations/{feature}: unregisters for the whole subscription."""
    unregister_feature(service, request)
    return Reply()


# Resource providers


def check_registered(service: Service, subscription: str, namespace: str) -> None:
    """Raise ArmError when the subscription can't use a resource provider."""
    if provider_state(service, subscription, namespace) not in ("Registered", "Registering"):
        raise ArmError(
            409,
            "MissingSubscriptionRegistration",
            f"The subscription is not registered to use namespace '{namespace}'. See "
            "https://aka.ms/rps-not-found for how to register subscriptions.",
            target=namespace,
        )


def provider_state(service: Service, subscription: str, namespace: str) -> str:
    """Return the registration state of a provider; a new subscription has all of the twin's registered."""
    stored = service.store.get(_provider_id(subscription, namespace))
    return _settled(service, stored, held=False) if stored else "Registered"


def _provider_id(subscription: str, namespace: str) -> str:
    return f"/subscriptions/{subscription}/providers/{namespace}"


def _set_provider(service: Service, request: Request, wanted: str) -> Reply:
    namespace = _known_provider(request)
    document = {"id": _provider_id(request.subscription, namespace), "state": wanted, "since": time.time()}
    service.store.put(PROVIDERS, document, f"/subscriptions/{request.subscription}")
    return Reply(_provider(service, request, namespace))


def _known_provider(request: Request) -> str:
    for namespace in _PROVIDERS:
        if namespace.lower() == request.args["namespace"].lower():
            return namespace
    raise ArmError(
        404,
        "InvalidResourceNamespace",
        f"The resource namespace '{request.args['namespace']}' is invalid: the twin knows {', '.join(_PROVIDERS)}.",
    )


def _provider(service: Service, request: Request, namespace: str) -> dict[str, Any]:
    return {
        "id": _provider_id(request.subscription, namespace),
        "namespace": namespace,
        "registrationState": provider_state(service, request.subscription, namespace),
        "registrationPolicy": "RegistrationRequired",
        "resourceTypes": [
            {"resourceType": kind, "locations": list(LOCATIONS.values()), "apiVersions": []}
            for kind in _PROVIDERS[namespace]
        ],
    }


def get_provider(service: Service, request: Request) -> Reply:
    """GET /subscriptions/{subscription}/providers/{namespace}."""
    return Reply(_provider(service, request, _known_provider(request)))


def list_providers(service: Service, request: Request) -> Reply:
    """GET /subscriptions/{subscription}/providers."""
    return Reply({"value": [_provider(service, request, namespace) for namespace in _PROVIDERS]})


def register_provider(service: Service, request: Request) -> Reply:
    """POST …/providers/{namespace}/register."""
    return _set_provider(service, request, "Registering")


def unregister_provider(service: Service, request: Request) -> Reply:
    """POST …/providers/{namespace}/unregister."""
    return _set_provider(service, request, "Unregistering")
