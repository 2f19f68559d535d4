// Owns `plexus policy`: every permission rule with the tools it matches, and for one call which rule decides and why the others do not.

import type { Runtime } from '../../api.ts';
import type { CallDecision } from '../../call/authorize/decide.ts';
import { canonicalName } from '../../catalog/naming.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { placeOf } from '../../model/diagnostic.ts';
import type { ToolId } from '../../model/names.ts';
import type { Verdict } from '../../model/rule.ts';
import type { Tool, ToolAnnotations } from '../../model/tool.ts';
import { type ReviewContext, type RuleRemark, reviewRules } from '../../policy/review.ts';
import { type PermissionRule, parseRules } from '../../policy/rule.ts';
import { ruleMatches } from '../../policy/rule-match.ts';
import { spellTool } from '../../policy/tool-spellings.ts';
import type { JudgedConfig } from '../../servers/judge-config.ts';
import { parseArgumentsJson } from '../arguments.ts';
import { type Command, type CommandResult, type Context, type Paint, UsageError } from '../command.ts';
import { environmentOf, loadConfigFor } from '../load-config.ts';
import { locateRules } from '../locate-rules.ts';
import { type CallExplanation, explainCall, findTool, type RuleFate } from '../policy-why.ts';
import { indent, printable, prose, shellWord, table } from '../render/text.ts';
import { startupForTools, warnOfDiagnostics, withRuntime } from '../with-runtime.ts';

export const policy: Command = {
  usage: 'policy [--live]\n  plexus policy why (NAME | SERVER TOOL) [--args JSON] [--live]',
  options: { args: { type: 'string' }, live: { type: 'boolean' } },
  help: {
    'args JSON': 'with why: the arguments of the call, as one JSON object',
    live: 'connect to the servers, instead of using their cached tools',
  },
  examples: ['policy why mcp__files__write', 'policy why files write --args \'{"path":"out/a.txt"}\''],
  async run(context) {
    const [what, ...words] = context.positionals;
    const { args: given } = context.values;
    if (what !== undefined && what !== 'why') throw new UsageError(`"${what}" is not known; use "why" or nothing`);
    if (what === undefined && given !== undefined) throw new UsageError('--args is for: plexus policy why NAME');
    const args = typeof given === 'string' ? parseArgumentsJson(given, '--args') : undefined;
    const loaded = await loadConfigFor(context);
    const [rules, idleRules] = await Promise.all([locateRules(loaded.rules), locateRules(loaded.idleRules)]);
    const config = { ...loaded, rules, idleRules };
    const [server, tool] = words;
    const isNamed = tool !== undefined && config.definitions.some(({ name }) => name === server);
    const only = isNamed && server !== undefined ? { only: [server] } : {};
    return withRuntime(
      context,
      { startup: startupForTools(context), required: 'report', ...only },
      async (runtime, diagnostics) => {
        warnOfDiagnostics(diagnostics, context);
        return what === undefined
          ? listRules(context, runtime, config)
          : why(context, runtime, config, { words, args });
      },
    );
  },
};

interface WhyRequest {
  readonly words: readonly string[];
  readonly args: JsonObject | undefined;
}

async function why(
  context: Context,
  runtime: Runtime,
  config: JudgedConfig,
  { words, args }: WhyRequest,
): Promise<CommandResult> {
  const id = findTool(words, runtime, config);
  const found = await explainCall({ context, runtime, config, id, args });
  const { decision, rules, mode, annotations, trustsAnnotations, grant } = found;
  return {
    data: {
      name: canonicalName(id),
      ...id,
      isKnown: found.tool !== undefined,
      ...decision,
      rules: rules.map(({ rule, ...fate }) => ({ ...ruleData(rule), ...fate })),
      approval: { mode, annotations, trustsAnnotations },
      grant: grant.kind,
    },
    text: (paint) => whyText(found, args === undefined, paint).join('\n'),
  };
}

const colorOf = (verdict: Verdict, paint: Paint) =>
  verdict === 'allow' ? paint.green : verdict === 'deny' ? paint.red : paint.yellow;

function whyText(found: CallExplanation, isAny: boolean, paint: Paint): readonly string[] {
  const { id, decision, rules } = found;
  const others = rules.filter(({ fate }) => fate !== 'decides');
  const whom = `${canonicalName(id)}${isAny ? '' : ' with these arguments'}`;
  const title = others.length === rules.length ? 'Rules that match it:' : 'Other rules that match it:';
  return [
    `${colorOf(decision.verdict, paint)(decision.verdict)}  ${paint.bold(printable(whom))}`,
    prose(indent(printable(`because ${decision.because}`)), paint),
    ...remarksOn(found).map((line) => prose(indent(printable(line)), paint)),
    ...(others.length > 0 ? ['', title, indent(othersText(others, paint))] : []),
  ];
}

/** Further reasons for the decision. */
function remarksOn({
  id,
  tool,
  decision,
  mode,
  annotations,
  trustsAnnotations,
  grant,
}: CallExplanation): readonly string[] {
  const hints = Object.entries(annotations).filter(([name]) => name.endsWith('Hint'));
  const stated = hints.map(([name, value]) => `${name} = ${String(value)}`).join(', ');
  const isAsked = decision.verdict === 'ask';
  return [
    ...(decision.rule ? [] : [`no rule decides, so approval = "${mode}" does`]),
    ...(tool === undefined ? [`no tool "${id.tool}" of server "${id.server}" is known, so only rules are shown`] : []),
    ...(hints.length > 0 && !decision.rule
      ? [`it states ${stated}, which is ${trustsAnnotations ? '' : 'not '}trusted`]
      : []),
    ...(isAsked && grant.kind === 'changed' ? ['it has changed since you approved it, so it asks again'] : []),
    ...(isAsked && decision.isEveryTime ? ['it asks each time, even if you approved it before'] : []),
    ...(isAsked ? [`this is about a model's call; ${ownOrder(id, annotations, decision)}`] : []),
  ];
}

/** Completes what a person may do where a model's call asks. */
function ownOrder({ server, tool }: ToolId, annotations: ToolAnnotations, { byRule }: CallDecision): string {
  const command = `plexus call ${shellWord(server)} ${shellWord(tool)}`;
  return byRule || annotations.destructiveHint === true
    ? `"${command}" is your own order and asks too, unless you add --yes`
    : `"${command}" is your own order and does not ask`;
}

function othersText(others: readonly RuleFate[], paint: Paint): string {
  return table(
    ['RULE', 'SCOPE', 'FILE', 'BUT IT'],
    others.map(({ rule, why: reason = '' }) => [
      { text: ruleText(rule) },
      { text: rule.scope },
      { text: placeOf(rule.provenance), paint: paint.dim },
      { text: reason },
    ]),
    paint,
  );
}

const ruleText = ({ text, verdict, conditions }: PermissionRule) =>
  [`${text} = ${verdict}`, ...conditions.map((condition) => condition.text)].join(', ');

function ruleData({ text, verdict, scope, conditions, provenance: { file, line } }: PermissionRule) {
  const place = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
  return {
    tool: text,
    action: verdict,
    ...(conditions.length > 0 && { args: conditions.map((condition) => condition.text) }),
    scope,
    ...place,
  };
}

function listRules(context: Context, runtime: Runtime, config: LoadedConfig): CommandResult {
  const servers = [...config.definitions, ...config.invalid].map(({ name }) => name);
  const parse = (texts: LoadedConfig['rules']) => parseRules(texts, servers, environmentOf(context));
  const rules = parse(config.rules);
  const tools = runtime.getTools();
  const invalid = new Set(config.invalid.map(({ name }) => name));
  const remarks = reviewRules(rules, servers, { tools: toolsByServer(runtime, tools), invalid });
  const counting = rules.map((rule) => ({
    rule,
    tools: tools.filter(({ id }) => ruleMatches(rule, spellTool(id, canonicalName(id)))).length,
    remark: remarks.find((each) => each.rule === rule),
  }));
  const idle = parse(config.idleRules).map((rule, at) => {
    const { idle: why = '' } = config.idleRules[at] ?? {};
    return { rule, tools: 0, remark: { kind: 'ignored', why } as const };
  });
  const counted: readonly CountedRule[] = [...counting, ...idle];
  return {
    data: {
      rules: counted.map(({ rule, tools: count, remark }) => ({
        ...ruleData(rule),
        tools: count,
        ...(remark && { remark: { kind: remark.kind, why: remark.why } }),
      })),
    },
    text: (paint) => rulesText(counted, paint),
    // A rule that cannot be read does not protect: that is no success.
    exitCode: config.diagnostics.some(({ severity }) => severity === 'error') ? 1 : 0,
  };
}

/** Only of servers whose tools are known: of the others it is unknown whether a rule matches anything. */
function toolsByServer(runtime: Runtime, tools: readonly Tool[]): NonNullable<ReviewContext['tools']> {
  const listed = runtime.status().filter(({ freshness }) => freshness !== undefined);
  return new Map(listed.map(({ name }) => [name, tools.filter(({ id }) => id.server === name)]));
}

interface CountedRule {
  readonly rule: PermissionRule;
  readonly tools: number;
  /** `ignored`: the rule was loaded and has no effect. */
  readonly remark: (Pick<RuleRemark, 'why'> & { readonly kind: RuleRemark['kind'] | 'ignored' }) | undefined;
}

function rulesText(counted: readonly CountedRule[], paint: Paint): string {
  if (counted.length === 0)
    return 'No rules. Every tool asks, unless its server sets "approval"; see docs/permissions.md.';
  const rows = counted.map(({ rule, tools }) => [
    { text: ruleText(rule), paint: colorOf(rule.verdict, paint) },
    { text: String(tools) },
    { text: rule.scope },
    { text: placeOf(rule.provenance), paint: paint.dim },
  ]);
  const remarks = counted.flatMap(({ rule, remark }) =>
    remark ? [paint.yellow(printable(`${ruleText(rule)}: it ${remark.why}.`))] : [],
  );
  return [table(['RULE', 'TOOLS', 'SCOPE', 'FILE'], rows, paint), ...(remarks.length > 0 ? ['', ...remarks] : [])].join(
    '\n',
  );
}
