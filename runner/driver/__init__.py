"""The driver: the program of ours that runs beside the browser, in a container of its own, and never on the host.

It plays or improvises a session against an application that it reaches over the shared loopback, and writes down what
happened. A page can attack it: whatever it says is a claim to the controller.
"""
