import configs from './tsdown.config.ts';
export default (configs as any[]).map((c) => ({ ...c, dts: false, ...(process.env['PLAIN'] && { minify: false }), outDir: `/tmp/perf-ab/${process.env['V']}/dist` }));
