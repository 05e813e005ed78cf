"""Browser sessions: recorded by ``chaos``, played again by ``replay``. The same line as for commands, with a target."""
