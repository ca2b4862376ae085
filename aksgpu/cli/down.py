"""`aksgpu down`: destroy a stack."""

from aksgpu.cli.up import Recover, StackName, Yes, prepare, without_asking


def down(*, stack: StackName = "dev", recover: Recover = False, yes: Yes = False) -> int:
    """Destroy a stack: workloads before claims, claims before classes and namespaces, pools, and last the cluster.

    An adopted cluster is left as it is. Recovers by itself what a killed run left in a twin.

    Example: aksgpu twin exec -- aksgpu down --stack dev
    """
    target, _, _ = prepare(stack, recover=recover)
    return 0 if target.run("destroy", *without_asking(yes=yes)) == 0 else 1
