// The in-process sweep counts as started, so that whatever is done was done by the engine.
globalThis.__account = { isSweeping: true }
