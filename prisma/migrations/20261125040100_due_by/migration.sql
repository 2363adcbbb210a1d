-- The statutory period is one month unless STATUTORY_PERIOD says otherwise, which only withdrawals from now on know.
ALTER TABLE "withdrawals" ADD COLUMN "due_by" TIMESTAMPTZ(3);
UPDATE "withdrawals" SET "due_by" = ("started_at" AT TIME ZONE 'UTC' + INTERVAL '1 month') AT TIME ZONE 'UTC' WHERE "completed_at" IS NULL;
