// The in-process sweep counts as started, so that whatever is done was done by the engine.
globalThis.__accountTimer = true
