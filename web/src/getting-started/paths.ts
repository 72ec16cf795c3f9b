/** The path of the first-run page. */
export const gettingStartedPath = '/manage/getting-started';
