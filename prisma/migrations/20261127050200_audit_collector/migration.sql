-- How far the audit was sent to the collector: one row, once one is configured.
CREATE TABLE "audit_collector" (
  "id" INTEGER NOT NULL,
  "after" TIMESTAMPTZ(3) NOT NULL,
  "after_id" TEXT NOT NULL,
  "leased_until" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "audit_collector_pkey" PRIMARY KEY ("id")
);
