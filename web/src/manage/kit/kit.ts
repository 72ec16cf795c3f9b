import './manage.css';

export { ConfirmAction } from '../../ui/confirm-action.tsx';
export { Editor } from './editor.tsx';
export { EditorPage, type SaveResult, saveResultOf } from './editor-page.tsx';
export { FormErrors, FormFields, type FormProblem } from './form.tsx';
export { FormDialog } from './form-dialog.tsx';
export { actionsColumn, List } from './list.tsx';
export type { Saved } from './saved-meanwhile.tsx';
export { CopyLine, ShownOnce } from './shown-once.tsx';
export type { Values } from './values.ts';
