import { testRoutes } from './property-routes.ts';

testRoutes((name) => /^\w+ \/v3(?:beta1)?\/(?!enterprise\/)/.test(name));
