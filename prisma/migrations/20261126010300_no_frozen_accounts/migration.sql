-- An undo finds its old address free from now on, so that no account is frozen any more. Those that are get a row in the audit.
WITH account AS (
  UPDATE "users" SET "frozen_at" = NULL, "version" = "version" + 1
  WHERE "frozen_at" IS NOT NULL AND "withdrawn_at" IS NULL RETURNING "id"
)
INSERT INTO "audit_events" ("id", "user_id", "action", "actor", "at")
SELECT 'aud_unfrozen_' || "id", "id", 'account.unfrozen', 'system', now() FROM account;
