"""The capability kernel: no screen, no network, no device.

Rooms, each importing only those before it:

model      values without IO
workspace  the disk: layout, YAML with positions, snapshots, watch
admission  snapshot to verdict: manifest rules, schemas, policy, explanations
lua        the sandbox
records    audit log, event bus
storage    SQLite: durable state and generation history
host       what ``ctx.host`` may do
registry   lifecycle, table, router, the call path, reload
"""
