"""One scrubber for everything that a browser session leaves behind: HAR, incident, report, script, trace.

A value that one place tells to be a secret (a header, a cookie, a field, a parameter, a password input) is removed
from every other place and file of the run, so all files are gone through twice: to learn, then to scrub::

    scrubber = Scrubber(keep=texts_to_keep(incident))
    with scrubber.learning():
        scrub_har(har, scrubber)
        scrub_incident(incident, scrubber)
        learn_trace(trace, scrubber)
    har = scrub_har(har, scrubber)                     # HAR as a dict; scrub_har_file() for bytes
    incident = scrub_incident(incident, scrubber)      # before identities, report and script are made of it
    trace = scrub_trace(trace, scrubber)
    dom = scrubber.data(dom, "text/html")              # any body
    outcome = scrubber.document(outcome)               # any JSON value
    line = scrubber.text(line)                         # any text; scrubber.url() for a URL

Secrets are replaced by ``[REDACTED]``, bodies that cannot be read by :data:`DROPPED`. What cannot be scrubbed at all
raises :class:`Unscrubbable` and must not be stored. Scrubbing what is scrubbed changes nothing. The rules, and what
is not removed: ``docs/scrubbing.md``. Standard library only.
"""
