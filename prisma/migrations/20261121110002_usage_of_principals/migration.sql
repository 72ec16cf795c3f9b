-- CreateIndex
CREATE INDEX "usage_user_id_used_at_idx" ON "usage"("user_id", "used_at");

-- CreateIndex
CREATE INDEX "usage_service_user_id_used_at_idx" ON "usage"("service_user_id", "used_at");
