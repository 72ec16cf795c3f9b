-- CreateTable
CREATE TABLE "idp_group" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idp_group_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idp_group_role" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "role_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idp_group_role_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "idp_group_enterprise_id_created_at_id_idx" ON "idp_group"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "idp_group_enterprise_id_name_key" ON "idp_group"("enterprise_id", "name");

-- CreateIndex
CREATE INDEX "idp_group_role_organization_id_idx" ON "idp_group_role"("organization_id");

-- CreateIndex
CREATE INDEX "idp_group_role_role_id_idx" ON "idp_group_role"("role_id");

-- A group has one role in each scope. Also the index for the roles of a group.
CREATE UNIQUE INDEX "idp_group_role_of_group" ON "idp_group_role"("group_id", coalesce("organization_id", ''));
