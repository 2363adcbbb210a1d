-- What an application that is told about everyone has to know: sealed, because it is the person's external id.
ALTER TABLE "app_notifications" ADD COLUMN "sealed_subject" BYTEA;

-- When a step had deleted what it erases itself; its tasks may keep it open longer.
ALTER TABLE "deletion_steps" ADD COLUMN "erased_at" TIMESTAMPTZ(3);
