-- The table has the standard term of what it stores. No version has been released yet, so that no process of a released version
-- runs beside newer ones: the rule that nothing in use is renamed or removed (CONTRIBUTING.md) does not apply, and the column that
-- only older processes wrote is no longer needed.
ALTER TABLE "offset_walk" RENAME TO "paging_snapshot";
ALTER TABLE "paging_snapshot" RENAME CONSTRAINT "offset_walk_pkey" TO "paging_snapshot_pkey";
ALTER INDEX "offset_walk_started_at_idx" RENAME TO "paging_snapshot_started_at_idx";
ALTER TABLE "paging_snapshot" DROP COLUMN "has_begun";
