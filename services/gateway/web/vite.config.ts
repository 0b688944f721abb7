import { defineConfig } from "vite";

// The gateway that `npm run dev` talks to; the built client talks to whoever served it.
const gateway = process.env.EASTWIND_DEV_GATEWAY ?? "http://localhost:8080";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    target: "es2022",
    assetsInlineLimit: 0,
    // The gallery is a page of the development server only.
    rolldownOptions: { input: "index.html" },
  },
  server: {
    proxy: {
      "/v1": { target: gateway },
      "/ws": { target: gateway, ws: true },
    },
  },
});
