ALTER TABLE "connected_apps" ADD COLUMN "confirms" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "deletion_tasks" ADD COLUMN "confirms" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "checked_at" TIMESTAMPTZ(3),
  ADD COLUMN "times_present" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "absent_at" TIMESTAMPTZ(3);
-- An instance of an earlier release ends a task with the answer of its application. It must not end one that awaits a confirmation.
ALTER TABLE "deletion_tasks" ADD CONSTRAINT "deletion_tasks_confirmed"
  CHECK (NOT confirms OR status <> 'completed' OR waived_at IS NOT NULL OR absent_at IS NOT NULL) NOT VALID;
