-- An instance of the last release leaves it null: every other session ends then, as before.
ALTER TABLE "email_change_requests" ADD COLUMN "requested_by" TEXT;
