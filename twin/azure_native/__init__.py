"""A stand-in for the Pulumi provider `azure-native`, for the resources the twin's Azure endpoint knows.

It speaks the engine's provider protocol (gRPC) on one side and Azure Resource Manager (HTTPS) on the other,
and decides what the real provider would decide: which fields reach Azure, what plans as a replacement, what
counts as drift. The program and the engine can't tell the difference; anything the twin doesn't know is an
error that names it.

Started by the engine as `pulumi-resource-azure-native`, which runs `python -m twin.azure_native`.
"""
