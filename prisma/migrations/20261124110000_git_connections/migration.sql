-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "branch_template" TEXT,
ADD COLUMN     "default_repositories" JSONB NOT NULL DEFAULT '[]';

-- CreateTable
CREATE TABLE "git_connection" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "provider_type" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "host_key" TEXT NOT NULL,
    "username" TEXT,
    "app_id" TEXT,
    "installation_id" TEXT,
    "sealed" TEXT,
    "last_test" JSONB,
    "last_failure" JSONB,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "service_key_id" TEXT,
    "updated_by_user_id" TEXT,
    "updated_by_service_user_id" TEXT,
    "updated_by_service_key_id" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "git_connection_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "git_permission" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "git_connection_id" TEXT NOT NULL,
    "repo_path" TEXT,
    "group_prefix" TEXT,
    "prefix_path" TEXT,
    "read_only" BOOLEAN NOT NULL DEFAULT false,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "service_key_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "git_permission_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "repository" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "path_key" TEXT NOT NULL,
    "git_connection_id" TEXT,
    "provider_repository_id" TEXT,
    "default_branch" TEXT,
    "description" TEXT,
    "language" TEXT,
    "web_url" TEXT,
    "is_private" BOOLEAN,
    "is_archived" BOOLEAN,
    "provider_updated_at" TIMESTAMPTZ(3),
    "branch_template" TEXT,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "read_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "repository_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "git_connection_enterprise_id_created_at_id_idx" ON "git_connection"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "git_permission_organization_id_created_at_id_idx" ON "git_permission"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "git_permission_git_connection_id_idx" ON "git_permission"("git_connection_id");

-- CreateIndex
CREATE INDEX "repository_enterprise_id_created_at_id_idx" ON "repository"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "repository_enterprise_id_host_path_key_key" ON "repository"("enterprise_id", "host", "path_key");

-- AddForeignKey
ALTER TABLE "git_permission" ADD CONSTRAINT "git_permission_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- By hand: what the schema file cannot say.
CREATE UNIQUE INDEX "git_connection_name" ON "git_connection"("enterprise_id", lower("name")) WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "git_permission_target" ON "git_permission"("organization_id", "git_connection_id",
  lower(coalesce("repo_path", '')), lower(coalesce("group_prefix", '')), lower(coalesce("prefix_path", '')));

ALTER TABLE "git_connection" ADD CONSTRAINT "git_connection_erased" CHECK ("deleted_at" IS NULL OR "sealed" IS NULL);
ALTER TABLE "git_permission" ADD CONSTRAINT "git_permission_target_one" CHECK (num_nonnulls("repo_path", "group_prefix", "prefix_path") = 1);
