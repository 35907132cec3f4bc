# The image of "make image", which lays out the build context: the static binary and CA certificates, nothing else.
# Mount a volume at /data for a local store, or name another store:
#   docker run -p 7281:7281 holdfast serve --listen 0.0.0.0:7281 --store postgres://...
FROM scratch
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY LICENSE /LICENSE
COPY --chown=65532:65532 data /data
COPY metastore /metastore
USER 65532:65532
VOLUME /data
EXPOSE 7280 7281 7282/udp
ENTRYPOINT ["/metastore"]
CMD ["serve", "--store", "/data", "--listen", "0.0.0.0:7281", "--http", "0.0.0.0:7280"]
