-- An instance of the last release registers applications without such reasons, and reads `other` where there is one.
ALTER TABLE "connected_apps" ADD COLUMN "waive_reasons" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "deletion_tasks" ADD COLUMN "waived_code" TEXT, ADD COLUMN "waived_sentence" TEXT;
