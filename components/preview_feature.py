"""The component PreviewFeature: the gate in front of managed GPU pools."""

import asyncio
import time
from typing import NotRequired, TypedDict

import pulumi
from pulumi.runtime.sync_await import _sync_await
from pulumi_azure_native import authorization

from aksgpu.readers.azure import NAMESPACE, Azure
from components import live

MANAGED_GPU = "ManagedGPUExperiencePreview"
MODES = ("require", "register")
PATIENCE = 1800
"""Seconds to wait for a registration; Azure says "a few minutes"."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 20.0


class PreviewFeatureArgs(TypedDict):
    """What a PreviewFeature takes."""

    mode: NotRequired[str]
    """`require` (if left out): fail with the commands when the feature isn't registered. `register`: an update
    registers it before the first pool is created. It is never unregistered: others in the subscription may use it."""
    feature: NotRequired[str]
    """The feature of Microsoft.ContainerService; `ManagedGPUExperiencePreview` if left out."""


class PreviewFeature(pulumi.ComponentResource):
    """A preview feature of AKS that has to be registered in the subscription before a managed GPU pool is made.

    Its state is read on every preview and update. Registering is left to `before_create`, a hook that pools bind:
    it runs only when a pool is really about to be created, and never in a preview.
    """

    state: pulumi.Output[str]
    """What Azure said when the run began, e.g. `Registered`; with `require` nothing else lets the run go on."""

    def __init__(self, name: str, args: PreviewFeatureArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:PreviewFeature", name, {}, opts)
        self._mode = args.get("mode", "require")
        self._feature = args.get("feature", MANAGED_GPU)
        client = authorization.get_client_config_output(pulumi.InvokeOutputOptions(parent=self))
        self._subscription = client.subscription_id
        self.state = self._subscription.apply(self._look)
        self.before_create = pulumi.ResourceHook(f"{name}-registered", self._register)
        # A program that fails while the SDK starts its server for hooks ends by a segmentation fault and says nothing:
        # the SDK stops the half-started server. So it is up before the program goes on, whatever fails then.
        _sync_await(self.before_create._registered)
        self.register_outputs({"state": self.state})

    async def _look(self, subscription: str) -> str:
        if self._mode not in MODES:
            raise live.RefusedError(f"previewFeature: '{self._mode}' is not one of {', '.join(MODES)}.")
        state = await live.ask(live.azure(subscription).feature_state, self._feature)
        if state != "Registered" and self._mode == "require":
            raise live.RefusedError(
                f"The preview feature {self._feature} is {state} in the subscription {subscription}, and managed GPU "
                f"pools need it. {self._commands()} Or set aksgpu:previewFeature to register, and the next update "
                "does that."
            )
        if state != "Registered" and pulumi.runtime.is_dry_run():
            pulumi.log.info(
                f"The preview feature {self._feature} is {state}; the update registers it before it creates a managed "
                "GPU pool, and waits.",
                self,
            )
        return state

    async def _register(self, _: pulumi.ResourceHookArgs) -> None:
        """Register the feature if need be, wait with progress, then refresh the resource provider."""
        azure = live.azure(str(await self._subscription.future()))
        state = await live.ask(azure.feature_state, self._feature)
        if state == "Registered":
            return
        state = await live.ask(azure.register_feature, self._feature)
        await self._wait(azure, state)
        pulumi.log.info(f"The preview feature {self._feature} is Registered; refreshing {NAMESPACE}.", self)
        await live.ask(azure.register_provider)

    async def _wait(self, azure: Azure, state: str) -> None:
        started, pause = time.monotonic(), FIRST_PAUSE
        while state != "Registered":
            waited = time.monotonic() - started
            if state not in {"Registering", "Pending"} or waited > PATIENCE:
                raise live.RefusedError(
                    f"The preview feature {self._feature} is {state} after {waited:.0f} s of registering. "
                    f"{self._commands()}"
                )
            pulumi.log.info(f"The preview feature {self._feature} is {state}, {waited:.0f} s so far.", self)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            state = await live.ask(azure.feature_state, self._feature)

    def _commands(self) -> str:
        return (
            f"Run `az feature register --namespace {NAMESPACE} --name {self._feature}`, wait until `az feature show "
            f"--namespace {NAMESPACE} --name {self._feature} --query properties.state --output tsv` says Registered, "
            f"then run `az provider register --namespace {NAMESPACE}`."
        )
