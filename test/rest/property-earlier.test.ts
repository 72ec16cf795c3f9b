import { testRoutes } from './property-routes.ts';

testRoutes((name) => /^\w+ \/v[12]\//.test(name));
