# The server for people without Cloudflare: workerd in a container, with its data in a volume. See docs/anywhere.md.
# The digest of the image for all platforms, from https://github.com/docker-library/repo-info at
# 3179cb4d576b9929bf86873c87f279ac67661c6e (repos/node/remote/24.21.0-bookworm-slim.md).
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /build
COPY . .
RUN npm ci
RUN npm pack --pack-destination .. && tar -xzf ../*.tgz -C ..
# The native runtime of the built-in model, of 291 MB what this platform needs.
RUN mkdir -p ../runtime && cp -r node_modules/onnxruntime-node node_modules/onnxruntime-common ../runtime && \
  find ../runtime/onnxruntime-node/bin -mindepth 2 -type d ! -path "*/linux" ! -path "*/linux/$(node -p process.arch)" -prune -exec rm -rf {} +

# Built files only, with the versions of the lock file; no scripts of packages are run.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
WORKDIR /app
COPY --from=build /package .
COPY --from=build /build/package-lock.json .
RUN npm ci --omit=dev --ignore-scripts
COPY --from=build /runtime ./node_modules
RUN mkdir -p ../data && chown 1000:1000 ../data
ENV COMMONPLACE_DATA=/data
ENV AUTH_MODE=required
VOLUME /data
USER node
EXPOSE 8787
HEALTHCHECK --start-period=30s --interval=30s --timeout=5s CMD ["node", "-e", "fetch('http://127.0.0.1:8787/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/cli/bin.mjs"]
CMD ["start", "--ip", "0.0.0.0", "--port", "8787"]
