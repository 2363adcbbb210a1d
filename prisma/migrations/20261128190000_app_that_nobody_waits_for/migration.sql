ALTER TABLE "connected_apps" ADD COLUMN "waived_at" TIMESTAMPTZ(3), ADD COLUMN "waived_error" TEXT;
