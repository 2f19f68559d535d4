// Owns rewriting one entry of another agent's file in our keys, for the agents that give one of our keys another meaning.
// Keys that no other agent uses differently are known to `vocabulary.ts`.

import { type ConfigMap, isMap } from '../config-map.ts';

/** Rewrites every text of an entry; keys stay as they are. */
export function mapTexts(entry: ConfigMap, change: (text: string) => string): ConfigMap {
  const changed = (value: unknown): unknown => {
    if (typeof value === 'string') return change(value);
    if (Array.isArray(value)) return value.map(changed);
    return isMap(value) ? mapTexts(value, change) : value;
  };
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, changed(value)]));
}

export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * For agents whose `timeout` is in milliseconds. A value below 1000 is hardly milliseconds, so it stays as it is for
 * `vocabulary.ts`.
 */
export function timeoutInMs({ timeout, ...entry }: ConfigMap): ConfigMap {
  if (timeout === undefined) return entry;
  return typeof timeout === 'number' && timeout >= 1_000 ? { ...entry, toolTimeoutMs: timeout } : { ...entry, timeout };
}

/** Codex may name the machine that a variable is read on, which here is always this one. */
export function translateCodex({ env_vars, http_headers_helper, ...entry }: ConfigMap): ConfigMap {
  const nameOf = (variable: unknown) => (isMap(variable) ? variable['name'] : variable);
  return {
    ...entry,
    ...(env_vars === undefined ? {} : { env_vars: Array.isArray(env_vars) ? env_vars.map(nameOf) : env_vars }),
    ...(http_headers_helper === undefined ? {} : { headersHelper: http_headers_helper }),
  };
}

/** For Gemini CLI, `$VAR` is a placeholder as much as `${VAR}`. */
export const translateGemini = (entry: ConfigMap) =>
  timeoutInMs(mapTexts(entry, (text) => text.replace(/\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`)));

/** OpenCode 2 has a timeout per phase. `codemode` says how OpenCode shows the tools to its own model. */
export function translateOpenCode({ codemode, ...entry }: ConfigMap): ConfigMap {
  const { timeout, ...rest } = entry;
  if (!isMap(timeout)) return timeoutInMs(entry);
  const { startup, execution } = timeout;
  return {
    ...rest,
    ...(startup === undefined ? {} : { startupTimeoutMs: startup }),
    ...(execution === undefined ? {} : { toolTimeoutMs: execution }),
  };
}

/** Zed's `remote` is about projects on another machine, and no transport. */
export const translateZed = ({ remote, ...entry }: ConfigMap): ConfigMap => entry;

/** Every entry of Copilot CLI must list its tools; a star among them means all. */
export const translateCopilot = ({ tools, ...entry }: ConfigMap) =>
  timeoutInMs(tools === undefined || [tools].flat().includes('*') ? entry : { ...entry, tools });

/** VS Code has older names for the workspace folder, which would otherwise be looked up in the environment. */
export const translateVsCode = (entry: ConfigMap) =>
  mapTexts(entry, (text) => text.replace(/\$\{(?:workspaceRoot|cwd)\}/g, () => WORKSPACE_FOLDER));

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
const WORKSPACE_FOLDER = '${workspaceFolder}';

/** For Oh My Pi, a value that is the name of a variable stands for that variable, as long as it is set. */
export function translateOhMyPi(entry: ConfigMap): ConfigMap {
  const asPlaceholder = (text: string) => (/^[A-Z_][A-Z0-9_]*$/.test(text) ? `\${${text}:-${text}}` : text);
  const maps = Object.entries(entry).filter(([key]) => key === 'env' || key === 'headers');
  return timeoutInMs({
    ...entry,
    ...Object.fromEntries(maps.map(([key, map]) => [key, isMap(map) ? mapTexts(map, asPlaceholder) : map])),
  });
}

/** SideCar's `tools` is a map with a switch for each tool. */
export function translateSideCar({ tools, toolAllowlist, ...entry }: ConfigMap): ConfigMap {
  const isOff = (tool: unknown) => isMap(tool) && tool['enabled'] === false;
  const off = isMap(tools) ? Object.keys(tools).filter((name) => isOff(tools[name])) : [];
  return {
    ...entry,
    ...(toolAllowlist === undefined ? {} : { enabledTools: toolAllowlist }),
    ...(tools === undefined || isMap(tools) ? {} : { tools }),
    ...(off.length === 0 ? {} : { disabledTools: off }),
  };
}
