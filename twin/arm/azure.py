"""What a request handler works with."""

from dataclasses import dataclass, field

from twin.arm.operations import Operations
from twin.arm.service import Service
from twin.arm.throttle import Throttle


@dataclass
class Azure:
    """The simulated Azure behind the routes."""

    service: Service
    operations: Operations
    throttle: Throttle = field(default_factory=Throttle)
