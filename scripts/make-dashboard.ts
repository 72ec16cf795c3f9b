// Writes deploy/grafana/switchyard.json, the dashboard of the metrics: `npm run generate:dashboard`.
import { writeFileSync } from 'node:fs';
import { dashboardText } from './dashboard/dashboard.ts';

writeFileSync(new URL('../deploy/grafana/switchyard.json', import.meta.url), dashboardText());
