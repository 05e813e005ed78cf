"""The line of a load scenario: an application and a scenario go in, a verdict and evidence come out."""
