-- AlterTable
ALTER TABLE "automation" ADD COLUMN     "service_key_id" TEXT,
ADD COLUMN     "updated_by_service_key_id" TEXT;

-- AlterTable
ALTER TABLE "knowledge_folder" ADD COLUMN     "service_key_id" TEXT,
ADD COLUMN     "service_user_id" TEXT,
ADD COLUMN     "updated_by_service_key_id" TEXT,
ADD COLUMN     "updated_by_service_user_id" TEXT,
ADD COLUMN     "updated_by_user_id" TEXT,
ADD COLUMN     "user_id" TEXT;

-- AlterTable
ALTER TABLE "knowledge_note" ADD COLUMN     "service_key_id" TEXT,
ADD COLUMN     "updated_by_service_key_id" TEXT,
ADD COLUMN     "updated_by_service_user_id" TEXT,
ADD COLUMN     "updated_by_user_id" TEXT;

-- AlterTable
ALTER TABLE "log_entry" ADD COLUMN     "service_key_id" TEXT;

-- AlterTable
ALTER TABLE "playbook" ADD COLUMN     "service_key_id" TEXT,
ADD COLUMN     "updated_by_service_key_id" TEXT;

-- AlterTable
ALTER TABLE "secret" ADD COLUMN     "service_key_id" TEXT,
ADD COLUMN     "updated_by_service_key_id" TEXT,
ADD COLUMN     "updated_by_service_user_id" TEXT,
ADD COLUMN     "updated_by_user_id" TEXT;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "service_key_id" TEXT;

-- AlterTable
ALTER TABLE "usage" ADD COLUMN     "service_key_id" TEXT;

-- AlterTable
ALTER TABLE "webhook_endpoint" ADD COLUMN     "service_key_id" TEXT,
ADD COLUMN     "updated_by_service_key_id" TEXT,
ADD COLUMN     "updated_by_service_user_id" TEXT,
ADD COLUMN     "updated_by_user_id" TEXT;

-- The audit log knows who made and who changed what is here already: the first entry of each thing, and the last one.
CREATE TEMPORARY TABLE "authorship" AS
SELECT e."target_id" AS "id",
       (array_agg(e."user_id" ORDER BY e."created_at", e."id"))[1] AS "made_by_user_id",
       (array_agg(e."service_user_id" ORDER BY e."created_at", e."id"))[1] AS "made_by_service_user_id",
       (array_agg(k."id" ORDER BY e."created_at", e."id"))[1] AS "made_by_service_key_id",
       (array_agg(e."user_id" ORDER BY e."created_at" DESC, e."id" DESC))[1] AS "changed_by_user_id",
       (array_agg(e."service_user_id" ORDER BY e."created_at" DESC, e."id" DESC))[1] AS "changed_by_service_user_id",
       (array_agg(k."id" ORDER BY e."created_at" DESC, e."id" DESC))[1] AS "changed_by_service_key_id"
  FROM "audit_entry" e LEFT JOIN "api_key" k ON k."id" = e."api_key_id" AND k."kind" = 'SERVICE'
 WHERE e."target_id" IS NOT NULL AND e."action" IN ('create_session', 'send_message', 'create_secret', 'update_secret',
       'create_knowledge', 'edit_knowledge', 'create_folder', 'update_folder', 'create_playbook', 'update_playbook',
       'delete_playbook', 'create_automation', 'update_automation', 'delete_automation', 'create_webhook_endpoint',
       'update_webhook_endpoint')
 GROUP BY e."target_id";

UPDATE "session" t SET "service_key_id" = a."made_by_service_key_id" FROM "authorship" a
 WHERE a."id" = t."id" AND a."made_by_service_key_id" IS NOT NULL AND t."user_id" IS NULL AND t."service_user_id" IS NULL;
UPDATE "usage" t SET "service_key_id" = s."service_key_id" FROM "session" s
 WHERE s."id" = t."session_id" AND s."service_key_id" IS NOT NULL;
UPDATE "log_entry" t SET "service_key_id" = s."service_key_id" FROM "session" s
 WHERE s."id" = t."session_id" AND s."service_key_id" IS NOT NULL AND t."message_type" = 'initial_user_message';
UPDATE "log_entry" t SET "service_key_id" = a."made_by_service_key_id" FROM "authorship" a
 WHERE a."id" = t."id" AND a."made_by_service_key_id" IS NOT NULL AND t."user_id" IS NULL AND t."service_user_id" IS NULL;
UPDATE "knowledge_folder" t SET "user_id" = a."made_by_user_id", "service_user_id" = a."made_by_service_user_id",
       "service_key_id" = a."made_by_service_key_id", "updated_by_user_id" = a."changed_by_user_id",
       "updated_by_service_user_id" = a."changed_by_service_user_id", "updated_by_service_key_id" = a."changed_by_service_key_id"
  FROM "authorship" a WHERE a."id" = t."id";
UPDATE "knowledge_note" t SET "service_key_id" = a."made_by_service_key_id", "updated_by_user_id" = a."changed_by_user_id",
       "updated_by_service_user_id" = a."changed_by_service_user_id", "updated_by_service_key_id" = a."changed_by_service_key_id"
  FROM "authorship" a WHERE a."id" = t."id";
UPDATE "secret" t SET "service_key_id" = a."made_by_service_key_id", "updated_by_user_id" = a."changed_by_user_id",
       "updated_by_service_user_id" = a."changed_by_service_user_id", "updated_by_service_key_id" = a."changed_by_service_key_id"
  FROM "authorship" a WHERE a."id" = t."id";
UPDATE "webhook_endpoint" t SET "service_key_id" = a."made_by_service_key_id", "updated_by_user_id" = a."changed_by_user_id",
       "updated_by_service_user_id" = a."changed_by_service_user_id", "updated_by_service_key_id" = a."changed_by_service_key_id"
  FROM "authorship" a WHERE a."id" = t."id";
UPDATE "playbook" t SET "service_key_id" = a."made_by_service_key_id", "updated_by_service_key_id" = a."changed_by_service_key_id"
  FROM "authorship" a WHERE a."id" = t."id";
UPDATE "automation" t SET "service_key_id" = a."made_by_service_key_id", "updated_by_service_key_id" = a."changed_by_service_key_id"
  FROM "authorship" a WHERE a."id" = t."id";
DROP TABLE "authorship";
