"""What a browser session is made of, in words that both sides share: the controller, and the driver that runs beside
the browser in its container. Frozen values of the standard library only, because the driver's image has no more.
"""
