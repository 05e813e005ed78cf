"""Users that misbehave, each in its way. A persona is a pure function of its seed and of what it is shown."""
