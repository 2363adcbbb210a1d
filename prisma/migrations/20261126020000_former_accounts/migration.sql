-- A new account with the external id of a withdrawn one begins at this version, above all that applications may still hear of the
-- withdrawn one. The default is for rows of the last release: no account has had so many changes.
ALTER TABLE "ended_external_ids" ADD COLUMN "next_version" INTEGER NOT NULL DEFAULT 1000000;

-- What a call to an application still needs after the purge has deleted the user id.
ALTER TABLE "app_notifications" ADD COLUMN "sealed_account" BYTEA;
