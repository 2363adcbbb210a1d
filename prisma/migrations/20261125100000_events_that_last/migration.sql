-- What is told at the end of a withdrawal needs the subjects that were known at its start.
ALTER TABLE "withdrawals" ADD COLUMN "sealed_subjects" BYTEA;

-- The log of deliveries: when the last try was, and how long it took. A resent delivery has its own last day.
ALTER TABLE "event_deliveries"
    ADD COLUMN "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    ADD COLUMN "tried_at" TIMESTAMPTZ(3),
    ADD COLUMN "took_ms" INTEGER,
    ADD COLUMN "retry_until" TIMESTAMPTZ(3);
