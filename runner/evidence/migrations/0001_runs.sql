-- One row a replay. It is there before anything runs, and says `running` until the replay has ended.
CREATE TABLE runs (
    run_id        TEXT NOT NULL PRIMARY KEY,
    directory     BLOB NOT NULL,   -- absolute path, as the file system has it
    state         TEXT NOT NULL DEFAULT 'running'
                  CHECK (state IN ('running', 'finished', 'interrupted', 'failed', 'killed')),
    started       TEXT NOT NULL,   -- UTC, ISO 8601, milliseconds
    command       TEXT NOT NULL,
    report        TEXT NOT NULL,
    report_sha256 TEXT NOT NULL,
    backend       TEXT NOT NULL,
    runs          INTEGER NOT NULL,
    finished      TEXT,
    verdict       TEXT,
    exit_code     INTEGER,
    passes        INTEGER,
    duration      REAL,            -- seconds, from the start to the verdict
    result_sha256 TEXT,            -- of the file result.json
    events_count  INTEGER,
    events_head   TEXT,            -- digest of the last event
    bytes         INTEGER,         -- of all files of the run directory
    CHECK (state <> 'finished' OR (finished IS NOT NULL AND verdict IS NOT NULL AND exit_code IS NOT NULL
           AND passes IS NOT NULL AND duration IS NOT NULL AND result_sha256 IS NOT NULL
           AND events_count IS NOT NULL AND events_head IS NOT NULL AND bytes IS NOT NULL))
) STRICT;

CREATE INDEX runs_newest ON runs (started DESC, run_id DESC);
CREATE INDEX runs_running ON runs (run_id) WHERE state = 'running';

-- REPLACE would remove a row without a word.
CREATE TRIGGER runs_are_new BEFORE INSERT ON runs
WHEN EXISTS (SELECT 1 FROM runs WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'the run is there already'); END;

CREATE TRIGGER runs_begin_running BEFORE INSERT ON runs
WHEN NEW.state <> 'running'
BEGIN SELECT RAISE(ABORT, 'a run begins as running'); END;

CREATE TRIGGER runs_stay_as_they_ended BEFORE UPDATE ON runs
WHEN OLD.state <> 'running'
BEGIN SELECT RAISE(ABORT, 'a run that has ended does not change'); END;

CREATE TRIGGER runs_stay_as_they_began BEFORE UPDATE ON runs
WHEN (OLD.run_id, OLD.directory, OLD.started, OLD.command, OLD.report, OLD.report_sha256, OLD.backend, OLD.runs)
  <> (NEW.run_id, NEW.directory, NEW.started, NEW.command, NEW.report, NEW.report_sha256, NEW.backend, NEW.runs)
BEGIN SELECT RAISE(ABORT, 'what a run began with does not change'); END;

CREATE TRIGGER runs_are_kept BEFORE DELETE ON runs
BEGIN SELECT RAISE(ABORT, 'a run is not deleted'); END;
