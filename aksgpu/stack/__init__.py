"""Driving a Pulumi stack from outside the program: running the engine, and recovering what a kill left behind."""
