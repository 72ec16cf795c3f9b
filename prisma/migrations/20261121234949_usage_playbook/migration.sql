-- AlterTable
ALTER TABLE "usage" ADD COLUMN     "playbook_id" TEXT;

-- What was used before it was kept.
UPDATE "usage" AS u SET "playbook_id" = s."playbook_id"
  FROM "session" AS s
 WHERE s."id" = u."session_id" AND s."playbook_id" IS NOT NULL;
