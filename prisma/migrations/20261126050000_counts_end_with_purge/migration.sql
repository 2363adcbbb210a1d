-- The last receipt takes the counts over; the releases before this kept them for good.
DELETE FROM "deletion_counts" c USING "withdrawals" w
WHERE w."id" = c."withdrawal_id" AND w."purged_at" IS NOT NULL AND w."completed_at" IS NOT NULL AND w."receipt_due_at" IS NULL;
