-- The event log of each replay: appended to, never changed, each event bound to the one before by its digest.
CREATE TABLE events (
    run_id   TEXT NOT NULL REFERENCES runs (run_id),
    seq      INTEGER NOT NULL,
    at       TEXT NOT NULL,
    kind     TEXT NOT NULL,
    line     TEXT NOT NULL,   -- canonical JSON; the digest is of this
    sha256   TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
    previous TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT;

CREATE TRIGGER events_do_not_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event does not change'); END;

CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'an event is not deleted'); END;

CREATE TRIGGER events_belong_to_a_running_run BEFORE INSERT ON events
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE run_id = NEW.run_id AND state = 'running')
BEGIN SELECT RAISE(ABORT, 'no such run is running'); END;

CREATE TRIGGER events_have_no_gaps BEFORE INSERT ON events
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM events WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'the event is not the next one'); END;

CREATE TRIGGER events_follow_each_other BEFORE INSERT ON events
WHEN NEW.previous <> coalesce((SELECT sha256 FROM events WHERE run_id = NEW.run_id AND seq = NEW.seq - 1),
                              '0000000000000000000000000000000000000000000000000000000000000000')
BEGIN SELECT RAISE(ABORT, 'the event does not follow the one before'); END;

-- A finished run names the end of its log.
CREATE TRIGGER runs_finish_with_their_log BEFORE UPDATE ON runs
WHEN NEW.state = 'finished' AND OLD.state = 'running' AND NOT EXISTS (
    SELECT 1 FROM events WHERE run_id = NEW.run_id AND seq = NEW.events_count AND sha256 = NEW.events_head
    AND kind = 'replay.judged' AND seq = (SELECT max(seq) FROM events WHERE run_id = NEW.run_id))
BEGIN SELECT RAISE(ABORT, 'the run does not name the end of its log'); END;
