/** A setting is missing or wrong. The message has one sentence for each setting, for the operator. */
export class SettingsError extends Error {}
