-- AlterTable
ALTER TABLE "users" ADD COLUMN     "role" TEXT;

-- CreateIndex
CREATE INDEX "notices_failed" ON "notices"("failed_at") WHERE (failed_at IS NOT NULL);
