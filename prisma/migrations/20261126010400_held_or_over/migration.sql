-- A verified change can be undone while it has this key. A domain that is not ASCII, and whose canonical form no row has, gets it as typed.
UPDATE "email_change_requests" SET "old_email_key" = lower("old_email" COLLATE "C")
WHERE "status" = 'verified' AND "closed_at" > now() - interval '30 days' AND "old_email_key" IS NULL AND "old_email" !~ '^[!-~]+$';

-- The recipient of a letter without a link has another name.
UPDATE "notices" SET "recipient" = 'lost' WHERE "kind" = 'email_changed' AND "recipient" = 'taken' AND "due_at" IS NOT NULL;
