-- How an application takes part: whom it is told about, how it acknowledges, and what it may say.
ALTER TABLE "connected_apps"
    ALTER COLUMN "endpoint" DROP NOT NULL,
    ADD COLUMN "audience" TEXT NOT NULL DEFAULT 'connected',
    ADD COLUMN "acknowledges" TEXT NOT NULL DEFAULT 'at_once',
    ADD COLUMN "acknowledge_within_s" INTEGER NOT NULL DEFAULT 86400,
    ADD COLUMN "phase" TEXT NOT NULL DEFAULT 'third_party_integrations',
    ADD COLUMN "includes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "checks" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "hosts" TEXT[] DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "categories" TEXT[] DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "reasons" TEXT[] DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "sealed_previous_secret" BYTEA,
    ADD COLUMN "previous_secret_until" TIMESTAMPTZ(3),
    ADD COLUMN "disabled_at" TIMESTAMPTZ(3);

-- The message to an application is a deletion task, which may be accepted now and reported later.
ALTER TABLE "app_notifications"
    ADD COLUMN "phase" TEXT NOT NULL DEFAULT 'third_party_integrations',
    ADD COLUMN "acknowledges" TEXT NOT NULL DEFAULT 'at_once',
    ADD COLUMN "accepted_at" TIMESTAMPTZ(3),
    ADD COLUMN "progress_done" INTEGER,
    ADD COLUMN "progress_total" INTEGER,
    ADD COLUMN "records" INTEGER,
    ADD COLUMN "retained" JSONB,
    ADD COLUMN "failure_code" TEXT,
    ADD COLUMN "waived_at" TIMESTAMPTZ(3),
    ADD COLUMN "waived_reason" TEXT;

-- An event may tell of an open account, and carry addresses to those that asked for them.
ALTER TABLE "events" ALTER COLUMN "withdrawal_id" DROP NOT NULL, ADD COLUMN "user_id" TEXT;
ALTER TABLE "event_deliveries" ADD COLUMN "sealed_data" BYTEA;

-- CreateTable
CREATE TABLE "withdrawal_blockers" (
    "user_id" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "code" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "url" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "withdrawal_blockers_pkey" PRIMARY KEY ("user_id","source","key")
) WITH (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);

ALTER TABLE "events" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "event_deliveries" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
