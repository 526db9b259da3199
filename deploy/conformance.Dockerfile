# The conformance suite as an image. Build it in the root of the repository:
# docker build -f deploy/conformance.Dockerfile -t svc-conformance .
ARG NODE=node:24.21.0-bookworm-slim

FROM ${NODE} AS build
WORKDIR /build
COPY . .
RUN ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
RUN ["node", "tools/write-manual.mjs"]
WORKDIR /build/packages/conformance
RUN ["/build/node_modules/.bin/tsup", "--no-sourcemap"]

FROM ${NODE} AS dependencies
WORKDIR /build
COPY . .
RUN ["npm", "ci", "--omit=dev", "--workspace=@svc/conformance", "--ignore-scripts", "--no-audit", "--no-fund"]

FROM ${NODE}
ENV NODE_ENV=production
COPY LICENSE /opt/svc/
COPY --from=dependencies /build/node_modules /opt/svc/node_modules
COPY --from=build /build/packages/conformance/package.json /opt/svc/packages/conformance/
COPY --from=build /build/packages/conformance/dist /opt/svc/packages/conformance/dist
COPY --from=build /build/packages/conformance/manual /opt/svc/packages/conformance/manual
# Reports are written here: mount a folder to keep them.
WORKDIR /reports
# A number, so that an orchestrator can see that it is not root.
USER 1000:1000
# The exec form: the suite is process 1, and cleans up when it receives SIGTERM.
ENTRYPOINT ["node", "/opt/svc/packages/conformance/dist/cli/main.js"]
