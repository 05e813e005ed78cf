-- Removing a run is an entry of its own, made in the transaction that deletes: so nothing goes by mistake or without a
-- trace. What stays is the id, when it went, and the head of its log, which stands for all that was in it.
CREATE TABLE removals (
    run_id        TEXT NOT NULL PRIMARY KEY,
    at            TEXT NOT NULL,
    directory     BLOB NOT NULL,
    events_count  INTEGER NOT NULL,
    events_head   TEXT NOT NULL,
    result_sha256 TEXT,   -- of the file result.json, by which the directory is known
    files_gone    INTEGER NOT NULL DEFAULT 0 CHECK (files_gone IN (0, 1))
) STRICT;

CREATE TRIGGER removals_name_a_run BEFORE INSERT ON removals
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE run_id = NEW.run_id AND state <> 'running')
BEGIN SELECT RAISE(ABORT, 'only a run that has ended is removed'); END;

CREATE TRIGGER removals_are_kept BEFORE DELETE ON removals
BEGIN SELECT RAISE(ABORT, 'a removal is not deleted'); END;

CREATE TRIGGER removals_only_complete BEFORE UPDATE ON removals
WHEN (OLD.run_id, OLD.at, OLD.directory, OLD.events_count, OLD.events_head,
      coalesce(OLD.result_sha256, ''), 1)
  <> (NEW.run_id, NEW.at, NEW.directory, NEW.events_count, NEW.events_head,
      coalesce(NEW.result_sha256, ''), NEW.files_gone)
BEGIN SELECT RAISE(ABORT, 'a removal does not change'); END;

CREATE TRIGGER runs_do_not_come_back BEFORE INSERT ON runs
WHEN EXISTS (SELECT 1 FROM removals WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'the run was removed'); END;

DROP TRIGGER runs_are_kept;
CREATE TRIGGER runs_are_kept BEFORE DELETE ON runs
WHEN NOT EXISTS (SELECT 1 FROM removals WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a run is not deleted'); END;

DROP TRIGGER events_are_kept;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM removals WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'an event is not deleted'); END;

CREATE INDEX removals_begun ON removals (run_id) WHERE files_gone = 0;
