"""The tables of the databases, as the steps that lead to them."""

from __future__ import annotations

from typing import Final

__all__ = ["CONTENT", "STATE"]

STATE: Final = (
    """
    CREATE TABLE state (
        capability_id TEXT NOT NULL,
        schema_version INTEGER NOT NULL,
        key TEXT NOT NULL,
        value BLOB NOT NULL,
        bytes INTEGER NOT NULL,
        version INTEGER NOT NULL,
        PRIMARY KEY (capability_id, schema_version, key)
    ) WITHOUT ROWID;
    CREATE TABLE generations (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        capability_id TEXT NOT NULL,
        version TEXT NOT NULL,
        digest TEXT NOT NULL,
        day TEXT NOT NULL,
        nth INTEGER NOT NULL,
        generation_id TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL,
        UNIQUE (capability_id, day, nth)
    );
    CREATE INDEX generations_by_digest ON generations (capability_id, version, digest);
    CREATE TABLE holds (
        capability_id TEXT PRIMARY KEY,
        hold TEXT NOT NULL CHECK (hold IN ('drained', 'disabled'))
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE grants (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        capability_id TEXT NOT NULL,
        generation INTEGER NOT NULL,
        given TEXT NOT NULL,
        at TEXT NOT NULL
    );
    CREATE INDEX grants_by_capability ON grants (capability_id, seq);
    CREATE TABLE documents (
        digest TEXT PRIMARY KEY,
        document TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE approvals (
        capability_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        change_class TEXT NOT NULL CHECK (change_class IN ('approval', 'restart')),
        what TEXT NOT NULL,
        actor_type TEXT NOT NULL,
        actor_id TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (capability_id, digest)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE servings (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        capability_id TEXT NOT NULL,
        generation INTEGER NOT NULL REFERENCES generations (number),
        at TEXT NOT NULL
    );
    CREATE INDEX servings_by_capability ON servings (capability_id, seq);
    CREATE TABLE quarantines (
        capability_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        generation INTEGER,
        reason TEXT NOT NULL,
        actor TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (capability_id, digest)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE rejections (
        seq INTEGER PRIMARY KEY,
        subject TEXT NOT NULL,
        capability_id TEXT,
        path TEXT NOT NULL,
        digest TEXT NOT NULL,
        at TEXT NOT NULL,
        summary TEXT NOT NULL,
        diagnostics TEXT NOT NULL,
        against TEXT NOT NULL,
        difference TEXT NOT NULL,
        UNIQUE (path, digest)
    );
    CREATE INDEX rejections_by_subject ON rejections (subject, seq);
    """,
    """
    ALTER TABLE state ADD COLUMN migrated INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE servings ADD COLUMN state_schema INTEGER;
    """,
    """
    CREATE TABLE frozen (
        at TEXT NOT NULL,
        actor TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE probations (
        capability_id TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        generation INTEGER NOT NULL,
        running INTEGER NOT NULL,
        deaths INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE policies (
        layer TEXT NOT NULL,
        path TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (layer, path)
    );
    """,
    """
    CREATE TABLE tools (
        server TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        name TEXT NOT NULL,
        digest TEXT NOT NULL,
        body TEXT NOT NULL,
        actor TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (server, endpoint, name)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE devices (
        fingerprint TEXT PRIMARY KEY,
        generation INTEGER NOT NULL,
        attachment TEXT NOT NULL,
        first_seen TEXT NOT NULL,
        last_seen TEXT NOT NULL,
        links TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE bindings (
        fingerprint TEXT PRIMARY KEY,
        logical_id TEXT NOT NULL UNIQUE,
        at TEXT NOT NULL,
        actor TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE claims (
        fingerprint TEXT PRIMARY KEY,
        lease_id TEXT NOT NULL,
        at TEXT NOT NULL,
        actor TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE servings ADD COLUMN kept INTEGER NOT NULL DEFAULT 1;
    UPDATE servings SET kept = 0 WHERE seq NOT IN (
        SELECT seq FROM (
            SELECT seq, dense_rank() OVER (PARTITION BY capability_id ORDER BY last DESC) AS place FROM (
                SELECT s.seq, s.capability_id, max(s.seq) OVER (PARTITION BY s.capability_id, g.digest) AS last
                FROM servings AS s JOIN generations AS g ON g.number = s.generation
            )
        ) WHERE place <= 6
    );
    CREATE TABLE pins (
        capability_id TEXT PRIMARY KEY,
        digest TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    CREATE INDEX servings_kept ON servings (capability_id, seq) WHERE kept;
    """,
)
"""Of ``state.db``. The step at index n leads from schema n to n + 1; a step that was published is never changed."""

CONTENT: Final = (
    """
    CREATE TABLE blobs (
        digest TEXT PRIMARY KEY,
        data BLOB NOT NULL
    );
    CREATE TABLE closures (
        digest TEXT PRIMARY KEY,
        path TEXT NOT NULL,
        manifest TEXT NOT NULL REFERENCES blobs (digest),
        files TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE uses (
        closure TEXT NOT NULL,
        blob TEXT NOT NULL,
        PRIMARY KEY (closure, blob)
    ) WITHOUT ROWID;
    CREATE INDEX uses_by_blob ON uses (blob);
    INSERT INTO uses SELECT digest, manifest FROM closures;
    INSERT OR IGNORE INTO uses SELECT closures.digest, json_extract(file.value, '$[1]')
        FROM closures, json_each(iif(json_valid(closures.files), closures.files, '{}')) AS file
        WHERE file.type = 'array';
    """,
)
"""Of ``store/content.db``, in the same way. ``files`` is JSON: the path as the manifest writes it to the real path
and the digest of its bytes. ``uses`` says the same the other way round: whether bytes may go."""
