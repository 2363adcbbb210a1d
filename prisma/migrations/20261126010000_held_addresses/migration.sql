-- The canonical form of the address that a verified change replaced: it is held for its account while the change can be undone.
ALTER TABLE "email_change_requests" ADD COLUMN "old_email_key" TEXT;

-- Changes that can still be undone, but for those whose old address somebody else has taken since. A domain that is not ASCII has its
-- canonical form in the change that brought it.
UPDATE "email_change_requests" r
SET "old_email_key" = replaced.key
FROM (
  SELECT c.id, coalesce(
    (SELECT b.new_email_key FROM "email_change_requests" b WHERE b.user_id = c.user_id AND b.new_email = c.old_email LIMIT 1),
    CASE WHEN c.old_email ~ '^[!-~]+$' THEN lower(c.old_email COLLATE "C") END
  ) AS key
  FROM "email_change_requests" c WHERE c.status = 'verified' AND c.closed_at > now() - interval '30 days'
) AS replaced
WHERE r.id = replaced.id AND replaced.key <> r.new_email_key
  AND NOT EXISTS (SELECT FROM "users" u WHERE u.email_key = replaced.key AND u.id <> r.user_id);
