-- AlterTable
ALTER TABLE "connected_apps" ADD COLUMN     "events" TEXT[] DEFAULT ARRAY['account.withdrawn']::TEXT[];

-- CreateTable
CREATE TABLE "events" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "withdrawal_id" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "version" INTEGER NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_deliveries" (
    "id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "app_id" TEXT NOT NULL,
    "subject" TEXT,
    "status" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,
    "delivered_at" TIMESTAMPTZ(3),
    "dead_at" TIMESTAMPTZ(3),

    CONSTRAINT "event_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "events_withdrawal_id_idx" ON "events"("withdrawal_id");

-- CreateIndex
CREATE UNIQUE INDEX "event_deliveries_event_id_app_id_key" ON "event_deliveries"("event_id", "app_id");

-- CreateIndex
CREATE INDEX "event_deliveries_due" ON "event_deliveries"("app_id", "due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "event_deliveries_dead" ON "event_deliveries"("dead_at") WHERE (dead_at IS NOT NULL);

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_withdrawal_id_fkey" FOREIGN KEY ("withdrawal_id") REFERENCES "withdrawals"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_app_id_fkey" FOREIGN KEY ("app_id") REFERENCES "connected_apps"("id") ON DELETE CASCADE ON UPDATE CASCADE;
