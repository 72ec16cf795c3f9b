import { Component, createContext, type ErrorInfo, type ReactNode } from 'react';
import { onRecovery } from '../relay/connectivity.ts';
import { Failed } from './states.tsx';

interface Props {
  readonly children: ReactNode;
  /** A change of this value clears the error. */
  readonly resetKey?: string;
  /** Further actions for the user. */
  readonly more?: ReactNode;
}

interface State {
  readonly error: Error | null;
}

/**
 * Drops all fetched data, so that it is fetched again: Relay caches failures too. The app provides it, since it has the
 * environment.
 */
export const RenewContext = createContext<() => void>(() => undefined);

/** The delay before an unreachable service is tried again, if nothing else notices before that it answers. */
const againMs = 2_000;

/**
 * Shows an error in place of its children, with a retry button unless a permission is missing. Connection errors are retried
 * automatically.
 */
export class ErrorBoundary extends Component<Props, State> {
  static override contextType = RenewContext;
  declare context: () => void;
  override state: State = { error: null };
  #timer = 0;
  #stopListening: () => void = () => undefined;

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.error && before.resetKey !== this.props.resetKey) this.setState({ error: null });
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    if (error.name === 'UnreachableError') {
      this.#timer = window.setTimeout(this.#retry, againMs);
      this.#stopListening = onRecovery(this.#retry);
      return;
    }
    // For error reporting: the page itself shows one sentence.
    window.reportError(new Error(`${error.message}${info.componentStack ?? ''}`, { cause: error }));
  }

  override componentWillUnmount() {
    this.#stopWaiting();
  }

  #stopWaiting() {
    clearTimeout(this.#timer);
    this.#stopListening();
  }

  readonly #retry = () => {
    this.#stopWaiting();
    this.setState({ error: null });
    this.context();
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    const isRefused = 'code' in error && error.code === 'FORBIDDEN';
    return (
      <Failed message={error.message} {...(isRefused ? {} : { onRetry: this.#retry })}>
        {this.props.more}
      </Failed>
    );
  }
}
